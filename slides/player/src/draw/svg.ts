// SVG elements in a line.

type Attributes = Record<string, string | number>;

export function svg<Tag extends keyof SVGElementTagNameMap>(
    tag: Tag, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  element.append(...children);
  return element;
}

export function set(element: Element, attributes: Attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
}
