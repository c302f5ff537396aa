export { offlineInfo, offlineModel } from './offline-model.js';
