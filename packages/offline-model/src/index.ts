export { offlineInfo, offlineModel, offlineReply, type ThinkElsewhere } from './offline-model.js';
