/** Templates without the children that evaluate them, in plain JavaScript that also runs in browsers. */
export { walkPlainPath } from './plain-path.js'
export { parseTemplate, type Template, type TemplateExpression, type TemplateNode } from './template.js'
