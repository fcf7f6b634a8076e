// TestReport reads the output of `ctest -V` while it runs, and counts test cases instead of programs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distlab {

enum class TestStatus { passed, failed, skipped };

// One entry of CTest: a GoogleTest program, one case of it, or a script.
struct TestEntry {
  std::string name;
  TestStatus status = TestStatus::passed;
  std::string how;                          // "Passed", "Timeout", "Exception: SegFault"
  std::string seconds;                      // "0.12"
  int passed = 0, failed = 0, skipped = 0;  // test cases
  std::vector<std::string> skip_reasons;
  std::vector<std::string> output;  // without GoogleTest's reports of progress and success
};

class TestReport {
 public:
  // Reads one line of ctest's output. Returns true when it ended an entry, which is then last().
  bool add_line(std::string_view line);

  const TestEntry& last() const { return last_; }
  int finished() const { return finished_; }
  int total() const { return total_; }  // entries; 0 until the first has finished
  int passed() const { return passed_; }
  int failed() const { return failed_; }
  int skipped() const { return skipped_; }
  const std::vector<std::string>& failures() const { return failures_; }
  const std::map<std::string, int>& skip_reasons() const { return skip_reasons_; }  // and how many cases
  // Returns "12 passed, 0 failed", with ", 3 skipped" if some were skipped.
  std::string summary() const;

 private:
  void add_output(TestEntry& entry, std::string_view text);
  void finish(TestEntry entry);

  std::map<int, TestEntry> running_;  // by CTest's number
  TestEntry last_;
  int finished_ = 0, total_ = 0;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
  std::vector<std::string> failures_;
  std::map<std::string, int> skip_reasons_;
};

}  // namespace distlab
