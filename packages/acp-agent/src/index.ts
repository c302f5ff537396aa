export type { EditorContext } from './editor-context.js';
export { serveEditor } from './stdio.js';
