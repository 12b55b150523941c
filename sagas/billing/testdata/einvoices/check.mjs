// Holds each document of a folder against a schematron that xslt3 has compiled, and writes as JSON
// how many there were, how many contexts of rules met one, and which rules each breaks.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import SaxonJS from "saxon-js";

const [, , rules, folder] = process.argv;
const stylesheetInternal = JSON.parse(readFileSync(rules, "utf8"));
const report = { Documents: 0, Rules: 0, Broken: [] };
const met = new Set();
for (const Document of readdirSync(folder).sort()) {
  const sourceText = readFileSync(join(folder, Document), "utf8");
  const svrl = SaxonJS.transform({ stylesheetInternal, sourceText, destination: "serialized" }, "sync").principalResult;
  report.Documents++;
  for (const [, context] of svrl.matchAll(/<svrl:fired-rule[^>]*context="([^"]*)"/g)) met.add(context);
  for (const [, attributes, text] of svrl.matchAll(/<svrl:failed-assert([^>]*)>[\s\S]*?<svrl:text>([\s\S]*?)<\/svrl:text>/g)) {
    report.Broken.push({ Document, Rule: /\bid="([^"]*)"/.exec(attributes)?.[1] ?? "a rule", Text: text.trim() });
  }
}
report.Rules = met.size;
console.log(JSON.stringify(report));
