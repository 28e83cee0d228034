/** The YAML editor, and the CEL editor beside it: a page that has both loads one file. */

import { upgradeCelEditors } from "./cel-page.js";
import { upgradeYamlEditors } from "./yaml-page.js";

upgradeCelEditors();
upgradeYamlEditors();
