import type { ImageLimits, ModelInfo, ProviderConfig } from '@groundcrew/models';

/** What clients say of a session's model service; without an address, of the one it would have anyway. */
export interface ProviderSettings extends Omit<ProviderConfig, 'baseUrl'> {
  readonly baseUrl?: string | undefined;
  /** A client gives a token before each call. */
  readonly hasBearerTokenProvider?: boolean | undefined;
  /** Which of the named services is meant; the session's only one without it. */
  readonly providerName?: string | undefined;
  readonly modelCapabilities?: ModelCapabilities | undefined;
}

/** One of several services of a session, distinguished by name. */
export interface NamedProvider extends ProviderSettings {
  readonly name: string;
  readonly baseUrl: string;
}

/** A model of a named service; it is chosen as `provider/id`. */
export interface RegistryModel {
  readonly id: string;
  readonly provider: string;
  readonly wireModel?: string;
  /** The well-known model it behaves as. */
  readonly modelId?: string;
  readonly name?: string;
  readonly maxPromptTokens?: number;
  readonly maxContextWindowTokens?: number;
  readonly maxOutputTokens?: number;
  readonly capabilities?: ModelCapabilities;
}

/** What a client knows of a model better than its service. */
export interface ModelCapabilities {
  readonly supports?: { readonly vision?: boolean; readonly reasoningEffort?: boolean };
  readonly limits?: {
    readonly max_prompt_tokens?: number;
    readonly max_output_tokens?: number;
    readonly max_context_window_tokens?: number;
    readonly vision?: {
      readonly max_prompt_images?: number;
      readonly max_prompt_image_size?: number;
      readonly supported_media_types?: readonly string[];
    };
  };
}

/** What is known of a model, with what a client knows better. */
export function withCapabilities(
  info: ModelInfo,
  { supports = {}, limits = {} }: ModelCapabilities = {},
): ModelInfo {
  const { max_prompt_tokens, max_output_tokens, max_context_window_tokens, vision } = limits;
  return {
    ...info,
    ...(supports.vision !== undefined && { vision: supports.vision }),
    ...(vision && { images: imageLimits(vision) }),
    ...(supports.reasoningEffort === false && { reasoningEfforts: [] }),
    ...(max_prompt_tokens !== undefined && { maxPromptTokens: max_prompt_tokens }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(max_context_window_tokens !== undefined && { contextWindow: max_context_window_tokens }),
  };
}

type VisionLimits = NonNullable<NonNullable<ModelCapabilities['limits']>['vision']>;

function imageLimits(vision: VisionLimits): ImageLimits {
  const { max_prompt_images, max_prompt_image_size, supported_media_types } = vision;
  return {
    ...(max_prompt_images !== undefined && { most: max_prompt_images }),
    ...(max_prompt_image_size !== undefined && { largestBytes: max_prompt_image_size }),
    ...(supported_media_types?.length && { types: supported_media_types }),
  };
}
