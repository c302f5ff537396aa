export { type McpFactory, type McpWeb, mcpOverHttp } from './http.js';
export { ServedSessions } from './served-sessions.js';
export { sessionServer } from './session-tools.js';
export { mcpOverStdio } from './stdio.js';
