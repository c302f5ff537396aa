export { type StoreWorld, storeContract } from './store-contract.js';
