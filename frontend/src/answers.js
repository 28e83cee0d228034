/** What the server has put into the page, and which text it is about. */

export const lines = (text) => text.replace(/\r\n?/g, "\n");

/** The value of a field in a request of htmx, or null; an element that refreshes itself has it in its address. */
export function sentAs(name, request) {
  const sent = request?.parameters?.[name];
  if (typeof sent === "string" || !request?.path) return sent ?? null;
  return new URL(request.path, location.href).searchParams.get(name);
}

/** The JSON of a `<script>`; an empty list if there is none or it is broken. */
export function parsed(script) {
  try {
    return script ? JSON.parse(script.textContent) : [];
  } catch {
    return [];
  }
}
