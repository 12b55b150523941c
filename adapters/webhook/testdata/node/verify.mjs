// Verifies the request on standard input ({"headers", "body"}) with each of the
// secrets that are named, as the library of Standard Webhooks would: one line
// for each, what the message says or why it is refused.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { headers, body } = JSON.parse(readFileSync(0, "utf8"));
for (const secret of process.argv.slice(2)) {
  try {
    console.log("taken: " + new Webhook(secret).verify(body, headers).type);
  } catch (refusal) {
    console.log("refused: " + refusal.message);
  }
}
