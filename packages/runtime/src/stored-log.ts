import { readPoints, readPreview } from './history/stored-rewind.js';
import { readStoredRequest } from './turn/stored-request.js';
import { readStoredUsage } from './turn/stored-usage.js';

/** What the log says of a session that need not be open: model calls of the past, and where it can be taken back. Nothing is changed. */
export const storedLog = {
  request: readStoredRequest,
  usage: readStoredUsage,
  rewindPoints: readPoints,
  rewindPreview: readPreview,
};
