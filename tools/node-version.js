// Plain JavaScript that every Node can run, imported before anything else: older ones cannot load a .ts file or crash in
// better-sqlite3, and neither says why.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Slipway needs Node 24 or newer, this is ${process.version}: run \`npm ci\` first, then \`npm run setup\` (npm puts its own Node 24 first).`,
  );
  process.exit(1);
}
