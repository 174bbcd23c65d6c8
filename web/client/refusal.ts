// Why a request was refused.

/** The server's sentence; the page of somebody between it and this one says nothing to a person. */
export async function refusal(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  const own = response.headers.get("Content-Type")?.startsWith("text/plain") && text !== "";
  return own ? text : `The server does not take this (${response.status}).`;
}
