#include "distlab/trace_page.h"

#include <string_view>

#include "distlab/player_template.h"
#include "drawing/player_json.h"

namespace distlab {
namespace {

// A "<" in the JSON could end the script that contains it, or begin a comment.
std::string without_tags(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string trace_page(const dist::trace::Trace& trace) {
  constexpr std::string_view place = "@DISTLAB_TRACE@";
  std::string page(player_template());
  return page.replace(page.find(place), place.size(), without_tags(dist::trace::to_player_json(trace)));
}

}  // namespace distlab
