// The way in for package.json: tells an old Node what is wrong, which setup.ts cannot (Node 20 refuses to load it).
import './node-version.js';

await import('./setup.ts');
