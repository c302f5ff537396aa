export { offlineModel } from './offline-model.js';
