export { BadBusAddress, type Bus, openBus, readBusAddress } from './bus.js';
export { ClusterNode, type ClusterNodeOptions, type NodeSessions } from './node.js';
