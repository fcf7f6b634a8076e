// The file format: nothing is lost, viewers find what they need, and bad files get distinct errors.
#include "dist/trace/chrome_json.h"

#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "dist/trace/kind.h"

#include "same_trace.h"
#include "support/expect_error.h"
#include "traces.h"

namespace dist::test {
namespace {

using trace::Kind;
using trace::parse_chrome_json;
using trace::to_chrome_json;
using trace::Trace;
using Json = nlohmann::json;

std::vector<Json> events_with(const std::string& json, const std::string& key, const Json& value) {
  std::vector<Json> found;
  const Json root = Json::parse(json);
  for (const auto& event : root["traceEvents"]) {
    if (event.value(key, Json()) == value) found.push_back(event);
  }
  return found;
}

TEST(ChromeJson, GivesTheSameTraceBack) {
  expect_same(parse_chrome_json(to_chrome_json(exchange()), "here"), exchange());
}

TEST(ChromeJson, FindingsAndNodesComeBack) {
  const trace::Trace trace = swap_that_deadlocks();
  expect_same(parse_chrome_json(to_chrome_json(trace), "a test"), trace);
}

TEST(ChromeJson, AFindingOfARankThatIsNotThereIsRefused) {
  Json json = Json::parse(to_chrome_json(swap_that_deadlocks()));
  json["otherData"]["findings"][0]["parties"][0]["rank"] = 9;
  EXPECT_DIST_ERROR(parse_chrome_json(json.dump(), "run.json"), Errc::invalid_argument,
                    "run.json: parties.rank is 9; it must be from 0 to 1");
}

TEST(ChromeJson, AnEmptyTraceComesBackEmpty) {
  expect_same(parse_chrome_json(to_chrome_json({}), "here"), {});
}

TEST(ChromeJson, KeepsExtremeNumbersAndOddNames) {
  Trace odd{"\"quotes\" \\ / 集合通信 \n\t\x01\x7f </script>", 64, false, {}};
  for (const Kind kind : trace::all_kinds) {
    trace::Event event;
    event.kind = kind;
    event.rank = 63;
    event.peer = std::numeric_limits<std::int32_t>::min();
    event.begin = std::numeric_limits<std::int64_t>::max() - 1;
    event.end = std::numeric_limits<std::int64_t>::max();
    event.bytes = event.message = event.sequence = event.contributors =
        std::numeric_limits<std::uint64_t>::max();
    event.group = std::numeric_limits<std::uint32_t>::max();
    event.name = std::string("nul\0 and {} \xf0\x9f\x98\x80 \"", 17);
    event.algorithm = "\r\n";
    event.where = {"C:\\odd \"folder\"/früh.cpp", std::numeric_limits<int>::max()};
    event.offset = std::numeric_limits<std::int64_t>::min();
    event.in_shared_memory = kind == Kind::call;
    if (kind == Kind::call) event.ending = trace::Ending::cut_off;
    odd.events.push_back(event);
  }
  expect_same(parse_chrome_json(to_chrome_json(odd), "here"), odd);
}

TEST(ChromeJson, ACallInSharedMemorySaysSoInItsName) {
  Trace trace = shared_sum();
  EXPECT_NE(to_chrome_json(trace).find("\"name\":\"all_reduce two_shot in shared memory\""),
            std::string::npos);
  trace.events.front().in_shared_memory = false;
  EXPECT_NE(to_chrome_json(trace).find("\"name\":\"all_reduce two_shot\""), std::string::npos);
}

TEST(ChromeJson, ACallThatFailedSaysSoInItsName) {
  Trace trace = shared_sum();
  trace.events.front().ending = trace::Ending::failed;
  EXPECT_NE(to_chrome_json(trace).find("\"name\":\"all_reduce two_shot in shared memory, failed\""),
            std::string::npos);
}

TEST(ChromeJson, AnEndingThatThereIsNotIsQuoted) {
  Trace trace = shared_sum();
  trace.events.front().ending = trace::Ending::failed;
  std::string json = to_chrome_json(trace);
  json.replace(json.find("\"ending\":\"failed\""), 17, "\"ending\":\"happy\"");
  expect_error(Errc::invalid_argument, {"ending is \"happy\"", "done, failed, cut off"},
               [&] { parse_chrome_json(json, "here"); });
}

TEST(ChromeJson, BytesThatAreNoUtf8AreReplaced) {
  const Trace read = parse_chrome_json(to_chrome_json({"a\xff"
                                                       "b",
                                                       1,
                                                       false,
                                                       {}}),
                                       "here");
  EXPECT_EQ(read.title,
            "a\xef\xbf\xbd"
            "b");
}

TEST(ChromeJson, FileNamesOutliveTheTextAndTheTrace) {
  const char* file = nullptr;
  {
    const std::string json = to_chrome_json(exchange());
    file = parse_chrome_json(json, "here").events.back().where.file;
  }
  EXPECT_STREQ(file, "labs/train.cpp");
}

TEST(ChromeJson, TimesAreMicrosecondsToThePicosecond) {
  const std::string json =
      to_chrome_json({"", 1, true, {event(Kind::wait, 0, 1'234'567'000'001, 1'234'567'000'003)}});
  EXPECT_NE(json.find("\"ts\":1234567.000001,\"dur\":0.000002,"), std::string::npos) << json;
}

TEST(ChromeJson, EveryRankHasANamedThread) {
  std::vector<std::string> names;
  for (const auto& event : events_with(to_chrome_json({"", 3, true, {}}), "name", "thread_name"))
    names.push_back(event["args"]["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"rank 0", "rank 1", "rank 2"}));
}

TEST(ChromeJson, SlicesThatOverlapAreSpreadOverThreads) {
  Trace trace{"", 1, true, {}};
  trace.events = {part(Kind::receive, 0, 1, 1, 0, 20), part(Kind::receive, 0, 2, 2, 0, 10),
                  call(0, "outer", 0, 30), event(Kind::wait, 0, 5, 20), event(Kind::wait, 0, 25, 40)};
  const std::string json = to_chrome_json(trace);
  std::map<int, std::string> names;
  for (const auto& event : events_with(json, "name", "thread_name"))
    names[event["tid"]] = event["args"]["name"];
  std::vector<std::string> threads;
  for (const auto& event : events_with(json, "ph", "X")) threads.push_back(names[event["tid"]]);
  EXPECT_EQ(threads, (std::vector<std::string>{"rank 0 receives", "rank 0 receives 2", "rank 0", "rank 0",
                                               "rank 0 2"}));
}

TEST(ChromeJson, AFlowTiesEachSendToItsReceive) {
  const std::string json = to_chrome_json(exchange());
  const auto starts = events_with(json, "ph", "s"), ends = events_with(json, "ph", "f");
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  std::map<int, Json> thread_names;
  for (const auto& event : events_with(json, "name", "thread_name"))
    thread_names[event["tid"]] = event["args"]["name"];
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(starts[at]["id"], ends[at]["id"]);
    EXPECT_EQ(thread_names[starts[at]["tid"]], "rank " + std::to_string(i) + " sends");
    EXPECT_EQ(thread_names[ends[at]["tid"]], "rank " + std::to_string(1 - i) + " receives");
    EXPECT_LT(starts[at]["ts"].get<double>(), ends[at]["ts"].get<double>());
    EXPECT_LT(ends[at]["ts"].get<double>(), 2.5);  // inside the receive
  }
  EXPECT_NE(starts[0]["id"], starts[1]["id"]);
}

TEST(ChromeJson, AMessageWithoutItsOtherEndHasNoFlow) {
  const Trace trace{"", 2, true, {part(Kind::send, 0, 1, 7, 0, 1), part(Kind::receive, 1, 0, 8, 0, 1)}};
  EXPECT_TRUE(events_with(to_chrome_json(trace), "ph", "s").empty());
}

TEST(ChromeJson, AFileThatWasCutShortIsRefusedWhereverItWasCut) {
  const std::string whole = to_chrome_json(exchange());
  for (std::size_t size = 0; size + 2 < whole.size(); size += 97) {
    EXPECT_DIST_ERROR(parse_chrome_json(whole.substr(0, size), "run.json"), Errc::invalid_argument,
                      "run.json: this is not JSON, or it was cut short");
  }
}

TEST(ChromeJson, WhatOthersWroteIsRefused) {
  for (const char* foreign : {"[]", "3", "{}", R"({"traceEvents": []})", R"({"otherData": {"format": 3}})",
                              R"({"otherData": {"format": "chrome"}, "traceEvents": []})"}) {
    EXPECT_DIST_ERROR(parse_chrome_json(foreign, "run.json"), Errc::invalid_argument,
                      "run.json: this is JSON, but not a distlab trace");
  }
  EXPECT_DIST_ERROR(parse_chrome_json(R"({"otherData": {"format": "distlab trace 2"}})", "run.json"),
                    Errc::invalid_argument, "this distlab reads \"distlab trace 1\"");
}

// The exchange with one change, which must be refused with `part`.
void expect_refused(const std::string& pointer, const Json& value, const std::string& part) {
  Json json = Json::parse(to_chrome_json(exchange()));
  const Json::json_pointer at(pointer);
  if (value.is_null())
    json[at.parent_pointer()].erase(at.back());
  else
    json[at] = value;
  EXPECT_DIST_ERROR(parse_chrome_json(json.dump(), "run.json"), Errc::invalid_argument, part);
}

TEST(ChromeJson, MissingAndImpossibleFieldsAreNamed) {
  const Json whole = Json::parse(to_chrome_json(exchange()));
  std::size_t first = 0;
  while (whole["traceEvents"][first]["ph"] != "X") ++first;
  const std::string event = "/traceEvents/" + std::to_string(first);
  const std::string name = "run.json: traceEvents[" + std::to_string(first) + "]";
  expect_refused("/otherData/title", {}, "run.json: otherData.title is missing");
  expect_refused("/otherData/ranks", -1, "otherData.ranks is -1; it must be from 0 to");
  expect_refused("/otherData/virtual_time", 1, "otherData.virtual_time must be true or false");
  expect_refused("/traceEvents", {}, "run.json: traceEvents must be a list of events");
  expect_refused(event, 5, name + " is not an object");
  expect_refused(event + "/args", {}, name + ".args is missing");
  for (const auto& [field, value] : whole[Json::json_pointer(event + "/args")].items())
    expect_refused(event + "/args/" + field, {}, name + ".args." + field + " is missing");
  expect_refused(event + "/args/kind", "sent", ".args.kind is \"sent\"; there are call, send, receive");
  expect_refused(event + "/args/rank", 2, ".args.rank is 2; it must be from 0 to 1");
  expect_refused(event + "/args/end_ps", -1, ".args.end_ps is -1; it must be from 0");
  expect_refused(event + "/args/bytes", 1.5, ".args.bytes must be a whole number");
  expect_refused(event + "/args/name", 7, ".args.name must be a text");
  expect_refused(event + "/args/group", 1LL << 32, ".args.group is 4294967296");
  expect_refused(event + "/args/offset", 1ULL << 63, ".args.offset is 9223372036854775808");
}

}  // namespace
}  // namespace dist::test
