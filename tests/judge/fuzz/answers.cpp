// What a process says on its private channel, up to what is believed of it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/frame.h"
#include "judge/fuzz/driver.h"
#include "judge/numbers.h"
#include "judge/reported.h"

namespace {

const std::string nonce = "0123456789abcdef";

// Reads an answer as a grader does: checks its shape, takes its parts, and throws where something does not
// fit.
void look_at(const judge::Json& reply) {
  const judge::Json copy = reply;
  if (!copy.is_object()) return;
  if (const auto value = copy.find("value"); value != copy.end()) {
    if (value->is_array())
      for (const auto& number : *value) judge::number_text(number);
    try {
      (void)value->get<std::vector<double>>();
      (void)value->at(0).at("numbers").get<std::vector<float>>();
    } catch (const judge::Json::exception&) {
    }
  }
  try {
    (void)copy.value("error", judge::Json::object()).value("what", "");
  } catch (const judge::Json::exception&) {
  }
}

}  // namespace

std::vector<std::string> right_inputs() {
  using judge::Json;
  std::vector<std::string> all;
  for (const Json& reply :
       {Json{{"value", {1, 2, 3}}},
        Json{{"value", Json::array({{{"same_memory", true}, {"numbers", {0.5, 1}}}})}},
        Json{{"error", {{"code", "mismatch"}, {"what", "a \"text\"\n\\"}, {"todo", false}}}}, Json(nullptr)})
    all.push_back(judge::frame_of({{"ready", true}}) + judge::frame_of({{"nonce", nonce}, {"reply", reply}}) +
                  judge::frame_of({{"nonce", nonce}, {"done", true}}));
  all.push_back(judge::frame_of({{"nonce", nonce}, {"crash", {{"signal", 6}, {"frames", {1, 2}}}}}));
  all.push_back(judge::frame_of({{"nonce", nonce}, {"fault", "no such call"}}));
  all.push_back(judge::frame_of({{"nonce", nonce}, {"of", 1}, {"index", -12}}));
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  judge::FrameReader reader;
  judge::Reported said;
  const auto* const text = reinterpret_cast<const char*>(data);
  const std::size_t cut = size > 0 ? data[0] % (size + 1) : 0;
  try {
    for (const auto piece : {std::span(text, cut), std::span(text + cut, size - cut)}) {
      reader.feed(piece);
      while (auto frame = reader.next()) {
        if (!judge::request_in(*frame, nonce)) said.take(std::move(*frame), nonce);
      }
    }
  } catch (const std::runtime_error&) {
  }
  look_at(said.reply);
  return 0;
}
