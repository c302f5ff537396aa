export { Deliveries } from './deliveries.js';
export { checkAddress, type EndpointOptions, type EndpointSettings, readSecrets } from './endpoint.js';
export { type Following, Webhooks } from './webhooks.js';
