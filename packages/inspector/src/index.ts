export { start } from './app.js';
