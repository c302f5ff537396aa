import type { AnswerStyle } from '../../model.js';
import type { jsonSchemaFormat } from '../../output-format.js';
import type { ObjectSchema } from '../tool-schema.js';

/** The body of a call, as OpenAI documents it. */
export interface ResponsesBody {
  readonly model: string;
  readonly instructions?: string;
  readonly store: false;
  readonly include?: 'reasoning.encrypted_content'[];
  readonly reasoning?: { readonly effort?: Effort; readonly summary?: 'auto' | 'concise' | 'detailed' };
  readonly max_output_tokens?: number;
  readonly text?: {
    readonly format?: { readonly type: 'json_schema' } & ReturnType<typeof jsonSchemaFormat>;
    readonly verbosity?: AnswerStyle['verbosity'];
  };
  readonly prompt_cache_key?: string;
  readonly stream?: boolean;
  readonly tools?: ResponsesTool[];
  readonly tool_choice?: 'auto' | 'none';
  readonly parallel_tool_calls?: boolean;
  readonly input: ResponsesItem[];
}

/** How hard a model thinks. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export type ResponsesItem =
  | { readonly type: 'message'; readonly role: 'user'; readonly content: ResponsesContentPart[] }
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly content: string;
      readonly phase?: 'commentary' | 'final_answer';
    }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string }
  | ReasoningItem;

export type ResponsesContentPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string };

/** A thought as the service keeps it: sealed, for it stores none of them. */
export interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id: string;
  readonly summary: { readonly type: 'summary_text'; readonly text: string }[];
  readonly content?: { readonly type: 'reasoning_text'; readonly text: string }[];
  readonly encrypted_content?: string;
}

export interface ResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown> & ObjectSchema;
  /** Left out it would be true, and hold schemas to rules that few were written by. */
  readonly strict: false;
}
