#include "judge/ask.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/outcome.h"
#include "judge/team.h"

namespace judge {

Json ask(const std::string& call, const Json& cases, const Hidden& hidden) {
  Team team(runner(), 1);
  team.hide(hidden);
  team.start(0, {{"call", call}, {"cases", cases}});
  const auto outcomes = team.finish();
  if (!all_completed(outcomes)) return Json::array();
  const auto& answers = outcomes[0].reply;
  if (!answers.is_array() || answers.size() != cases.size()) {
    ADD_FAILURE() << "the process did not answer every question";
    return Json::array();
  }
  Json values = Json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto value = value_of(answers[i], cases[i].value("text", call));
    if (value.is_null()) return Json::array();
    values.push_back(value);
  }
  return values;
}

}  // namespace judge
