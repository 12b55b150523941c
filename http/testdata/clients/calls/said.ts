// What every call of the generated program needs.

/** What the panel that is called is, and who calls: a JSON object of texts. */
export const known: Record<string, string> = JSON.parse(process.env["PANEL"] ?? "{}");

/** An answer as openapi-fetch has it, whatever the call. */
type Answered<T> = { data?: T; error?: unknown; response: Response };

/**
 * The body of an answer that has to have this status. The line is that of
 * calls.http.
 */
export function said<T>(line: number, status: number, { data, error, response }: Answered<T>): NonNullable<T> {
  if (response.status !== status) {
    throw new Error(`calls.http:${line}: ${response.url} answers ${response.status}, not ${status}: ${JSON.stringify(error ?? data)}`);
  }
  return data as NonNullable<T>;
}
