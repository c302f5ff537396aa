export { serveEditor } from './stdio.js';
export type { EditorWorld } from './world.js';
