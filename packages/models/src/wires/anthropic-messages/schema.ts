import type { ObjectSchema } from '../tool-schema.js';

/** The body of a call, as Anthropic documents it. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly thinking?: Thinking;
  readonly output_config?: {
    readonly effort?: Effort;
    readonly format?: { readonly type: 'json_schema'; readonly schema: Readonly<Record<string, unknown>> };
  };
  readonly cache_control?: CacheMark;
  readonly tools?: MessagesTool[];
  readonly tool_choice?: { readonly type: 'auto' | 'none' };
  readonly system?: SystemBlock[];
  readonly messages: MessageParam[];
}

export type Thinking =
  | { readonly type: 'adaptive'; readonly display: 'summarized' }
  | { readonly type: 'enabled'; readonly budget_tokens: number };

/** How hard a model thinks that decides for itself when to. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** What ends here is worth keeping for the next call. */
export interface CacheMark {
  readonly type: 'ephemeral';
}

export interface SystemBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control: CacheMark;
}

export type MessageParam =
  | { readonly role: 'user'; readonly content: UserBlock[] }
  | { readonly role: 'assistant'; readonly content: AnswerBlock[] };

export type UserBlock = { readonly cache_control?: CacheMark } & UserContent;

type UserContent =
  | TextBlock
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: ImageType; readonly data: string };
    }
  | {
      readonly type: 'document';
      readonly source:
        | { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string }
        | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string };
      readonly title?: string;
      readonly citations?: { readonly enabled: true };
    }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content?: string };

export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

export type AnswerBlock =
  | TextBlock
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  | ThoughtBlock;

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** A thought, signed by the service so that it can recognise a forged one. */
export type ThoughtBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

export interface MessagesTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}
