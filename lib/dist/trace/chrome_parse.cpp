// Reads a trace in the Chrome format. Fields gives typed access to one JSON object, with errors that name the
// source and the field; then events, findings and their parties, the format check, and parse_chrome_json().
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/json_error.h"
#include "dist/core/json_quoted.h"
#include "dist/trace/chrome_json.h"
#include "dist/trace/kind.h"

namespace dist::trace {
namespace {

constexpr int most_ranks = 1 << 20;  // beyond any machine; each gets a named thread

// A call site's file name must outlive its events, wherever they are copied, so it is kept forever.
const char* interned(const std::string& file) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;  // a set's strings do not move
  const std::lock_guard lock(mutex);
  return names.insert(file).first->c_str();
}

// One JSON object of the file; `path` is its place there, for errors.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::string path)
      : object_(object), where_(std::move(where)), path_(std::move(path)) {
    if (!object.is_object()) fail(Errc::invalid_argument, "{}: {} is not an object", where_, path_);
  }

  Fields object(const std::string& key) const { return {at(key), where_, path_of(key)}; }

  bool has(const std::string& key) const { return object_.contains(key); }

  std::string text(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_string()) refuse(key, "must be a text");
    return value.get<std::string>();
  }

  bool boolean(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) refuse(key, "must be true or false");
    return value.get<bool>();
  }

  template <class Integer>
  Integer integer(const std::string& key, Integer least = std::numeric_limits<Integer>::min(),
                  Integer most = std::numeric_limits<Integer>::max()) const {
    const Json& value = at(key);
    const auto checked = [&](auto found) {
      if (std::cmp_less(found, least) || std::cmp_greater(found, most))
        refuse(key, fmt::format("is {}; it must be from {} to {}", found, least, most));
      return static_cast<Integer>(found);
    };
    if (value.is_number_unsigned()) return checked(value.get<std::uint64_t>());
    if (value.is_number_integer()) return checked(value.get<std::int64_t>());
    refuse(key, "must be a whole number");
  }

  [[noreturn]] void refuse(const std::string& key, std::string_view why) const {
    fail(Errc::invalid_argument, "{}: {} {}", where_, path_of(key), why);
  }

 private:
  const Json& at(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(key, "is missing");
    return *found;
  }

  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

  const Json& object_;
  std::string where_, path_;
};

// The one of `all` that the field names.
template <class Named>
auto named(const Fields& in, const std::string& key, const Named& all) {
  const std::string text = in.text(key);
  std::string known;
  for (const auto each : all) {
    if (name(each) == text) return each;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(each));
  }
  in.refuse(key, fmt::format("is {}; there are {}", json_quoted(text), known));
}

Event event_of(const Fields& in, int ranks) {
  Event event;
  event.kind = named(in, "kind", all_kinds);
  event.rank = in.integer<std::int32_t>("rank", 0, ranks - 1);
  event.peer = in.integer<std::int32_t>("peer");
  event.begin = in.integer<std::int64_t>("begin_ps", 0);
  event.end = in.integer<std::int64_t>("end_ps", event.begin);
  event.bytes = in.integer<std::uint64_t>("bytes");
  event.message = in.integer<std::uint64_t>("message");
  event.group = in.integer<std::uint32_t>("group");
  event.sequence = in.integer<std::uint64_t>("sequence");
  event.name = in.text("name");
  event.algorithm = in.text("algorithm");
  event.where = {interned(in.text("file")), in.integer<int>("line")};
  event.contributors = in.integer<std::uint64_t>("contributors");
  event.offset = in.integer<std::int64_t>("offset");
  event.in_shared_memory = in.boolean("in_shared_memory");
  if (in.has("ending")) event.ending = named(in, "ending", all_endings);
  return event;
}

// The elements of an optional list of objects.
template <class Read>
void each(const Json& object, const std::string& key, const std::string& where, Read read) {
  const auto list = object.find(key);
  if (list == object.end()) return;
  if (!list->is_array()) fail(Errc::invalid_argument, "{}: {} must be a list", where, key);
  for (const Json& element : *list) read(element, Fields(element, where, key));
}

Finding::Party party_of(const Json& json, const Fields& in, int ranks) {
  Finding::Party party;
  party.rank = in.integer<std::int32_t>("rank", 0, ranks - 1);
  party.doing = in.text("doing");
  party.where = {interned(in.text("file")), in.integer<int>("line")};
  const auto waits = json.find("waits_for");
  if (waits == json.end() || !waits->is_array()) in.refuse("waits_for", "must be a list of ranks");
  for (const Json& rank : *waits) {
    if (!rank.is_number_integer()) in.refuse("waits_for", "must be a list of ranks");
    party.waits_for.push_back(rank.get<int>());
  }
  return party;
}

Finding finding_of(const Json& json, const Fields& in, const std::string& where, int ranks) {
  Finding finding{in.text("code"), in.text("title"), in.text("what"), in.text("mend"), {}};
  each(json, "parties", where, [&](const Json& party, const Fields& fields) {
    finding.parties.push_back(party_of(party, fields, ranks));
  });
  return finding;
}

Json root_of(std::string_view text, const std::string& where) {
  try {
    return parse_json(text);
  } catch (const Json::exception& error) {
    fail(Errc::invalid_argument, "{}: this is not JSON, or it was cut short: {}", where,
         json_error(error.what()));
  }
}

// Files of other programs have no otherData, or a different one.
void check_format(const Json& root, const std::string& where) {
  const Json::json_pointer format("/otherData/format");
  if (!root.is_object() || !root.contains(format) || !root[format].is_string() ||
      !root[format].get_ref<const std::string&>().starts_with("distlab trace"))
    fail(Errc::invalid_argument, "{}: this is JSON, but not a distlab trace (which has otherData.format)",
         where);
  if (root[format] != trace_format)
    fail(Errc::invalid_argument, "{}: this is a {}; this distlab reads {}", where, json_text(root[format]),
         json_quoted(trace_format));
}

}  // namespace

Trace parse_chrome_json(std::string_view text, const std::string& where) {
  const Json root = root_of(text, where);
  check_format(root, where);
  const Fields in(root, where, "");
  const Fields about = in.object("otherData");
  Trace trace;
  trace.title = about.text("title");
  trace.ranks = about.integer<int>("ranks", 0, most_ranks);
  trace.virtual_time = about.boolean("virtual_time");
  const Json& extra = root["otherData"];
  if (extra.contains("ranks_per_node"))
    trace.ranks_per_node = about.integer<int>("ranks_per_node", 0, most_ranks);
  each(extra, "findings", where, [&](const Json& finding, const Fields& fields) {
    trace.findings.push_back(finding_of(finding, fields, where, trace.ranks));
  });
  const auto events = root.find("traceEvents");
  if (events == root.end() || !events->is_array()) in.refuse("traceEvents", "must be a list of events");
  for (std::size_t i = 0; i < events->size(); ++i) {
    const Fields event((*events)[i], where, fmt::format("traceEvents[{}]", i));
    if (event.text("ph") == "X") trace.events.push_back(event_of(event.object("args"), trace.ranks));
  }
  return trace;
}

}  // namespace dist::trace
