// Reported: what one process has said on its private channel, as far as it is believed: with the nonce of its
// task, each thing once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "judge/frame.h"
#include "judge/hidden.h"

namespace judge {

struct Reported {
  bool ready = false;  // for its task; the nonce is not known by then
  bool done = false;   // its completion record, after the answer
  Json reply;          // null: none
  Json crash;          // its last words (last_words.h)
  std::string fault;   // what kept its runner from the work

  bool has_answered() const { return !reply.is_null(); }
  // Frames of another task, and frames that no runner would write, are ignored.
  void take(Json frame, std::string_view nonce);
};

// Where the frame asks for hidden data. A request has the nonce, too.
std::optional<Request> request_in(const Json& frame, std::string_view nonce);

}  // namespace judge
