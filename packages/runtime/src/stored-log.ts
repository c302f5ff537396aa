import { storedRewinds } from './history/stored-rewind.js';
import { storedCalls } from './turn/stored-request.js';

/** What the log says of a session that need not be open: model calls of the past, and where it can be taken back. Nothing is changed. */
export const storedLog = {
  request: storedCalls.request,
  usage: storedCalls.usage,
  rewindPoints: storedRewinds.points,
  rewindPreview: storedRewinds.preview,
};
