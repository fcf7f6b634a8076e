// JSON as the result files have it.
#pragma once

#include <string>

#include "dist/core/json.h"

#include "distlab/results/text.h"

namespace distlab {

template <class Json>
void clean_texts(Json& json) {
  if (json.is_string()) json = clean(json.template get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (auto& each : json) clean_texts(each);
}

// Returns indented text with all texts cleaned: messages quote a student's program, and names and reasons
// quote the names of a student's files.
template <class Json>
std::string clean_json_text(Json json) {
  clean_texts(json);
  return dist::json_text(json, 2);
}

}  // namespace distlab
