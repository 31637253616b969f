// node gltf_validator.js PACKAGE FILE...: the Khronos validator on each file. Prints what it finds,
// one line each, and fails on errors; files named without "again-" must also be free of warnings.
"use strict";
const fs = require("fs");
const path = require("path");
const validator = require(path.resolve(process.argv[2]));

const severities = ["error", "warning", "information", "hint"];

async function check(file) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 0,
  });
  const strict = !path.basename(file).startsWith("again-");
  const { messages, numErrors, numWarnings } = report.issues;
  const bad = numErrors > 0 || (strict && numWarnings > 0);
  const kinds = {};
  for (const m of messages) {
    if (m.severity < 2 && (bad || m.severity === 0)) {
      console.log(`${file}: ${severities[m.severity]}: ${m.pointer}: ${m.message}`);
    }
    kinds[m.code] = (kinds[m.code] || 0) + 1;
  }
  const found = Object.entries(kinds).map(([code, count]) => `${count} ${code}`).join(", ");
  console.log(`${path.basename(file)}: ${numErrors} errors, ${numWarnings} warnings (${found})`);
  return !bad;
}

(async () => {
  let ok = process.argv.length > 3;
  for (const file of process.argv.slice(3)) ok = (await check(file)) && ok;
  process.exit(ok ? 0 : 1);
})();
