// An optional dependency whose `engines` end where Node's own SQLite begins: so its 29 MB are installed only where needed.
module.exports = require('@photostructure/sqlite');
