/** Templates without the children that evaluate them: of plain JavaScript, for browsers as well. */
export { walkPlainPath } from './plain-path.js'
export { parseTemplate, type Template, type TemplateExpression, type TemplateNode } from './template.js'
