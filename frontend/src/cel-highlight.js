import { highlightAll } from "./highlight.js";
import { wheneverLoaded } from "./whenever.js";

wheneverLoaded(highlightAll);
