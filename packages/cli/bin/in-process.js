'use strict';

// What `groundcrew/in-process` is: the runtime for apps that run it in their own process.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const isSourceCheckout = existsSync(join(__dirname, '..', 'src'));
if (isSourceCheckout) require('../scripts/ensure-built.cjs').ensureBuilt();
module.exports = require('../dist/in-process.cjs');
