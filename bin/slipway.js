#!/usr/bin/env node
// Plain JavaScript that every Node can run: looks at its version first, then loads the rest.
import '../tools/node-version.js';

const { main } = await import('../src/cli/main.ts');
await main();
