export { Deliveries } from './deliveries.js';
export { checkAddress, type EndpointSettings, type EndpointWishes, readSecrets } from './endpoint.js';
export { type Following, Webhooks } from './webhooks.js';
