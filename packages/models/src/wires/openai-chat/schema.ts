import type { jsonSchemaFormat } from '../../output-format.js';
import type { ObjectSchema } from '../tool-schema.js';

/** The body of a call, as OpenAI documents it. */
export interface ChatBody {
  readonly model: string;
  readonly messages: ChatParam[];
  readonly tools?: ChatTool[];
  readonly tool_choice?: 'auto' | 'none';
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage: boolean };
  readonly temperature?: number;
  readonly top_p?: number;
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly reasoning_effort?: string;
  readonly verbosity?: 'low' | 'medium' | 'high';
  readonly response_format?: {
    readonly type: 'json_schema';
    readonly json_schema: ReturnType<typeof jsonSchemaFormat>;
  };
  /** Of the Copilot service only. */
  readonly snippy?: { readonly enabled: boolean };
}

export type ChatParam =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | ChatContentPart[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: ChatCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export type ChatContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | {
      readonly type: 'file';
      readonly file: { readonly filename: string; readonly file_data: string };
    };

export interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: ObjectSchema;
  };
}
