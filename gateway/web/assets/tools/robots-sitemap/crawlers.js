// @ts-check
// The crawlers that an answer is about.

/** Whose they are. @type {Record<string, {of: string}>} */
export const known = {
  Googlebot: { of: "Google's search" },
  Bingbot: { of: "Microsoft's search, Bing" },
  Applebot: { of: "Apple's search and Siri" },
  DuckDuckBot: { of: "DuckDuckGo's search" },
  YandexBot: { of: "Yandex's search" },
  GPTBot: { of: "OpenAI, to train models" },
  ClaudeBot: { of: "Anthropic, to train models" },
  CCBot: { of: "Common Crawl, an archive of the web that models are trained on" },
};
