import type { ModelRequest } from '@groundcrew/models';

/** What of a request the offline model goes by. */
export type OfflineRequest = Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'toolChoice' | 'output'>;
