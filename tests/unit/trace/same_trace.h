// Field by field, with the event that differs in the message.
#pragma once

#include <gtest/gtest.h>

#include "dist/trace/event.h"

namespace dist::test {

inline void expect_same(const trace::Trace& got, const trace::Trace& wanted) {
  EXPECT_EQ(got.title, wanted.title);
  EXPECT_EQ(got.ranks, wanted.ranks);
  EXPECT_EQ(got.virtual_time, wanted.virtual_time);
  EXPECT_EQ(got.ranks_per_node, wanted.ranks_per_node);
  ASSERT_EQ(got.findings.size(), wanted.findings.size());
  for (std::size_t i = 0; i < wanted.findings.size(); ++i) {
    const trace::Finding &a = got.findings[i], &b = wanted.findings[i];
    EXPECT_EQ(a.code, b.code);
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.what, b.what);
    EXPECT_EQ(a.mend, b.mend);
    ASSERT_EQ(a.parties.size(), b.parties.size());
    for (std::size_t j = 0; j < b.parties.size(); ++j) {
      EXPECT_EQ(a.parties[j].rank, b.parties[j].rank);
      EXPECT_EQ(a.parties[j].doing, b.parties[j].doing);
      EXPECT_EQ(a.parties[j].where.str(), b.parties[j].where.str());
      EXPECT_EQ(a.parties[j].waits_for, b.parties[j].waits_for);
    }
  }
  ASSERT_EQ(got.events.size(), wanted.events.size());
  for (std::size_t i = 0; i < wanted.events.size(); ++i) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "event " + std::to_string(i));
    const trace::Event &a = got.events[i], &b = wanted.events[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.peer, b.peer);
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.message, b.message);
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.algorithm, b.algorithm);
    EXPECT_STREQ(a.where.file, b.where.file);
    EXPECT_EQ(a.where.line, b.where.line);
    EXPECT_EQ(a.contributors, b.contributors);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.in_shared_memory, b.in_shared_memory);
    EXPECT_EQ(a.ending, b.ending);
  }
}

}  // namespace dist::test
