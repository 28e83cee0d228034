import { upgradeCelEditors } from "./cel-page.js";

upgradeCelEditors();
