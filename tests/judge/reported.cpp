#include "judge/reported.h"

#include <utility>

namespace judge {
namespace {

// The text, where there is one.
std::string text_in(const Json& frame, const char* key) {
  const auto found = frame.find(key);
  return found != frame.end() && found->is_string() ? found->get<std::string>() : "";
}

// The whole number, where there is one.
std::optional<std::int64_t> number_in(const Json& frame, const char* key) {
  const auto found = frame.find(key);
  if (found == frame.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

void Reported::take(Json frame, std::string_view nonce) {
  if (!frame.is_object()) return;
  if (frame.contains("ready")) ready = true;
  if (text_in(frame, "nonce") != nonce) return;
  if (frame.contains("reply") && !has_answered() && !done) reply = std::move(frame["reply"]);
  if (frame.contains("crash") && crash.is_null()) crash = std::move(frame["crash"]);
  if (fault.empty()) fault = text_in(frame, "fault");
  if (frame.contains("done")) done = true;
}

std::optional<Request> request_in(const Json& frame, std::string_view nonce) {
  if (!frame.is_object() || text_in(frame, "nonce") != nonce) return std::nullopt;
  const auto of = number_in(frame, "of"), index = number_in(frame, "index");
  if (!of || !index) return std::nullopt;
  return Request{*of, *index};
}

}  // namespace judge
