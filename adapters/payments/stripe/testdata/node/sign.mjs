// Signs the body on standard input with the secrets that are named, as
// Stripe's library for Node would: one header for each, one a line.
import { readFileSync } from "node:fs";
import Stripe from "stripe";

const stripe = new Stripe("sk_test_OfTheTests");
const payload = readFileSync(0, "utf8");
const [timestamp, ...secrets] = process.argv.slice(2);
for (const secret of secrets) {
  console.log(stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Number(timestamp) }));
}
