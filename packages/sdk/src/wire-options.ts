/** The names of a session's options on the wire. Written by `npm run docs` from their table. */
export const wireOptions = {
  sessionId: true,
  clientName: true,
  traceparent: true,
  tracestate: true,
  requestPermission: true,
  requestUserInput: true,
  requestElicitation: true,
  requestMcpApps: true,
  requestExitPlanMode: true,
  requestAutoModeSwitch: true,
  hooks: true,
  hookOptions: {
    each: 'field',
    names: {
      timeoutMs: true,
      onFailure: true,
      types: true,
      stopBlocks: true,
    },
  },
  sandbox: true,
  sandboxConfig: {
    each: 'field',
    names: {
      enabled: true,
      addCurrentWorkingDirectory: true,
      allowDevToolAccess: true,
      auth: {
        each: 'field',
        names: {
          git: true,
          gh: true,
        },
      },
      userPolicy: {
        each: 'field',
        names: {
          filesystem: {
            each: 'field',
            names: {
              readwritePaths: true,
              readonlyPaths: true,
              deniedPaths: true,
              clearPolicyOnExit: true,
            },
          },
          network: {
            each: 'field',
            names: {
              allowOutbound: true,
              allowLocalNetwork: true,
              proxy: true,
            },
          },
          seatbelt: {
            each: 'field',
            names: {
              keychainAccess: true,
            },
          },
          experimental: {
            each: 'field',
            names: {
              seatbelt: {
                each: 'field',
                names: {
                  keychainAccess: true,
                },
              },
            },
          },
        },
      },
    },
  },
  streaming: true,
  includeSubAgentStreamingEvents: true,
  enableGitHubTelemetryForwarding: true,
  commands: {
    each: 'item',
    names: {
      name: true,
      description: true,
    },
  },
  model: true,
  reasoningEffort: true,
  reasoningSummary: true,
  verbosity: true,
  contextTier: true,
  modelCapabilities: {
    each: 'field',
    names: {
      supports: {
        each: 'field',
        names: {
          vision: true,
          reasoningEffort: true,
          adaptive_thinking: true,
        },
      },
      limits: {
        each: 'field',
        names: {
          max_prompt_tokens: true,
          max_output_tokens: true,
          max_context_window_tokens: true,
          vision: {
            each: 'field',
            names: {
              supported_media_types: true,
              max_prompt_images: true,
              max_prompt_image_size: true,
            },
          },
        },
      },
    },
  },
  provider: {
    each: 'field',
    names: {
      type: true,
      wireApi: true,
      transport: true,
      baseUrl: true,
      apiKey: true,
      bearerToken: true,
      hasBearerTokenProvider: true,
      azure: {
        each: 'field',
        names: {
          apiVersion: true,
        },
      },
      headers: true,
      providerName: true,
      modelId: true,
      wireModel: true,
      modelCapabilities: {
        each: 'field',
        names: {
          supports: {
            each: 'field',
            names: {
              vision: true,
              reasoningEffort: true,
              adaptive_thinking: true,
            },
          },
          limits: {
            each: 'field',
            names: {
              max_prompt_tokens: true,
              max_output_tokens: true,
              max_context_window_tokens: true,
              vision: {
                each: 'field',
                names: {
                  supported_media_types: true,
                  max_prompt_images: true,
                  max_prompt_image_size: true,
                },
              },
            },
          },
        },
      },
      maxPromptTokens: true,
      maxContextWindowTokens: true,
      maxOutputTokens: true,
    },
  },
  providers: {
    each: 'item',
    names: {
      type: true,
      wireApi: true,
      transport: true,
      baseUrl: true,
      apiKey: true,
      bearerToken: true,
      hasBearerTokenProvider: true,
      azure: {
        each: 'field',
        names: {
          apiVersion: true,
        },
      },
      headers: true,
      providerName: true,
      modelId: true,
      wireModel: true,
      modelCapabilities: {
        each: 'field',
        names: {
          supports: {
            each: 'field',
            names: {
              vision: true,
              reasoningEffort: true,
              adaptive_thinking: true,
            },
          },
          limits: {
            each: 'field',
            names: {
              max_prompt_tokens: true,
              max_output_tokens: true,
              max_context_window_tokens: true,
              vision: {
                each: 'field',
                names: {
                  supported_media_types: true,
                  max_prompt_images: true,
                  max_prompt_image_size: true,
                },
              },
            },
          },
        },
      },
      maxPromptTokens: true,
      maxContextWindowTokens: true,
      maxOutputTokens: true,
      name: true,
    },
  },
  models: {
    each: 'item',
    names: {
      id: true,
      provider: true,
      wireModel: true,
      modelId: true,
      name: true,
      maxPromptTokens: true,
      maxContextWindowTokens: true,
      maxOutputTokens: true,
      capabilities: {
        each: 'field',
        names: {
          supports: {
            each: 'field',
            names: {
              vision: true,
              reasoningEffort: true,
              adaptive_thinking: true,
            },
          },
          limits: {
            each: 'field',
            names: {
              max_prompt_tokens: true,
              max_output_tokens: true,
              max_context_window_tokens: true,
              vision: {
                each: 'field',
                names: {
                  supported_media_types: true,
                  max_prompt_images: true,
                  max_prompt_image_size: true,
                },
              },
            },
          },
        },
      },
    },
  },
  capi: {
    each: 'field',
    names: {
      enableWebSocketResponses: true,
    },
  },
  gitHubToken: true,
  gitHubTokenProviderRegistrationId: true,
  tools: {
    each: 'item',
    names: {
      name: true,
      description: true,
      parameters: true,
      overridesBuiltInTool: true,
      actsForBuiltIn: true,
      skipPermission: true,
      readOnly: true,
      checksArguments: true,
      defer: true,
      metadata: true,
      isTerminal: true,
    },
  },
  toolSearch: {
    each: 'field',
    names: {
      enabled: true,
      deferThreshold: true,
    },
  },
  availableTools: true,
  excludedTools: true,
  toolFilterPrecedence: true,
  largeOutput: {
    each: 'field',
    names: {
      enabled: true,
      maxSizeBytes: true,
      outputDir: true,
    },
  },
  mcpServers: {
    each: 'name',
    names: {
      type: true,
      command: true,
      args: true,
      env: true,
      cwd: true,
      url: true,
      headers: true,
      tools: true,
      excludeTools: true,
      timeout: true,
      trusted: true,
      deferTools: true,
      displayName: true,
      oauthClientId: true,
      oauthPublicClient: true,
      oauthGrantType: true,
      auth: {
        each: 'field',
        names: {
          redirectPort: true,
        },
      },
      headersRefreshTtlMs: true,
    },
  },
  disabledMcpServers: true,
  mcpOAuthTokenStorage: true,
  envValueMode: true,
  agent: true,
  customAgents: {
    each: 'item',
    names: {
      name: true,
      displayName: true,
      description: true,
      tools: true,
      prompt: true,
      mcpServers: {
        each: 'name',
        names: {
          type: true,
          command: true,
          args: true,
          env: true,
          cwd: true,
          url: true,
          headers: true,
          tools: true,
          excludeTools: true,
          timeout: true,
          trusted: true,
          deferTools: true,
          displayName: true,
          oauthClientId: true,
          oauthPublicClient: true,
          oauthGrantType: true,
          auth: {
            each: 'field',
            names: {
              redirectPort: true,
            },
          },
          headersRefreshTtlMs: true,
        },
      },
      infer: true,
      skills: true,
      model: true,
      reasoningEffort: true,
      limits: {
        each: 'field',
        names: {
          maxTokens: true,
          maxCalls: true,
          maxCost: true,
          maxSeconds: true,
        },
      },
    },
  },
  subagents: true,
  customAgentsLocalOnly: true,
  defaultAgent: {
    each: 'field',
    names: {
      excludedTools: true,
    },
  },
  excludedBuiltinAgents: true,
  systemMessage: {
    each: 'field',
    names: {
      mode: true,
      content: true,
      sections: {
        each: 'name',
        names: {
          action: true,
          content: true,
        },
      },
    },
  },
  instructionDirectories: true,
  organizationCustomInstructions: true,
  skipCustomInstructions: true,
  enableOnDemandInstructionDiscovery: true,
  enableSkills: true,
  skillDirectories: true,
  disabledSkills: true,
  pluginDirectories: true,
  workingDirectory: true,
  additionalDirectories: true,
  configDir: true,
  enableConfigDiscovery: true,
  enableFileHooks: true,
  providerRef: true,
  nodeLabels: true,
  titles: true,
  enableHostGitOperations: true,
  enableSessionStore: true,
  enableSessionTelemetry: true,
  enableCitations: true,
  enableFileChangeTracking: true,
  isExperimentalMode: true,
  skipEmbeddingRetrieval: true,
  embeddingCacheStorage: true,
  infiniteSessions: {
    each: 'field',
    names: {
      enabled: true,
      backgroundCompactionThreshold: true,
      bufferExhaustionThreshold: true,
    },
  },
  memory: true,
  sessionLimits: {
    each: 'field',
    names: {
      maxAiCredits: true,
      maxCost: true,
      maxTokens: true,
      maxCalls: true,
    },
  },
  canvases: {
    each: 'item',
    names: {
      id: true,
      displayName: true,
      description: true,
      icon: true,
      inputSchema: true,
      actions: {
        each: 'item',
        names: {
          name: true,
          description: true,
          inputSchema: true,
        },
      },
    },
  },
  canvasProvider: {
    each: 'field',
    names: {
      id: true,
      name: true,
    },
  },
  openCanvases: true,
  requestCanvasRenderer: true,
  requestExtensions: true,
  extensionSdkPath: true,
  extensionInfo: true,
  remoteSession: true,
  cloud: true,
  expAssignments: true,
  enableManagedSettings: true,
  managedSettings: {
    each: 'field',
    names: {
      permissions: {
        each: 'field',
        names: {
          deny: true,
          ask: true,
          disableBypassPermissionsMode: true,
          allow: true,
        },
      },
    },
  },
  githubMcpToolConfig: {
    each: 'field',
    names: {
      enableAllTools: true,
      additionalToolsets: true,
      additionalTools: true,
      enableInsidersMode: true,
      disableFormDeferral: true,
    },
  },
  disableResume: true,
  continuePendingWork: true,
  takeOver: true,
  waiveHooks: true,
  factories: {
    each: 'item',
    names: {
      name: true,
      description: true,
    },
  },
  workflows: {
    each: 'item',
    names: {
      name: true,
      description: true,
      phases: {
        each: 'item',
        names: {
          title: true,
          detail: true,
        },
      },
    },
  },
  requestedEnvironmentVariables: true,
} as const;
