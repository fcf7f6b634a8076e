#include "judge/bounds.h"

#include <algorithm>

namespace judge {

Shape shape_of(std::string_view json) {
  Shape shape{.values = 1};
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') shape.depth = std::max(shape.depth, ++depth);
    if (c == ']' || c == '}') --depth;
    if (c == '[' || c == '{' || c == ',' || c == ':') ++shape.values;
  }
  return shape;
}

}  // namespace judge
