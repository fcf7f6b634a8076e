#include "dist/trace/json_text.h"

#include <nlohmann/json.hpp>

namespace dist::trace {

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace dist::trace
