// distlab data: digits to look at, and what it says about files of MNIST.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "dist/data/mnist.h"

#include "distlab/process.h"

namespace {

namespace fs = std::filesystem;

class DataCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-data-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static distlab::ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {DISTLAB_PROGRAM, "data"});
    return distlab::run_captured(arguments);
  }
  void write(std::string_view name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  static std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
  fs::path folder_;
};

std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

}  // namespace

TEST_F(DataCommand, ShowsTenDigitsIn80Columns) {
  const auto shown = run({"digits", "--show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  std::istringstream lines(shown.output);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) EXPECT_LE(columns(line), 80U) << line;
  EXPECT_EQ(number, 2 * (7 + 1 + 1U));  // picture, labels, a line between
  EXPECT_NE(run({"digits", "--seed", "2"}).output, shown.output);
}

TEST_F(DataCommand, WritesASheetOfDigits) {
  const auto file = folder_ / "sheet.png";
  EXPECT_EQ(run({"digits", "--sheet", file, "-n", "26"}).exit_code, 0);
  std::ifstream in(file, std::ios::binary);
  const std::string png{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x02\xee\0\0\0\x3c", 8)) << "25 x 30 by 2 x 30 pixels";
  EXPECT_EQ(png.substr(png.size() - 8), std::string("IEND\xae\x42\x60\x82", 8));
  const auto refused = run({"digits", "--sheet", folder_ / "no" / "sheet.png"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(count(refused.output, "there is no folder"), 1U) << refused.output;
}

TEST_F(DataCommand, SaysWhereMnistBelongs) {
  const auto said = run({"mnist", "--dir", folder_});
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_EQ(count(said.output, "missing  "), 4U) << said.output;
  EXPECT_EQ(count(said.output, "cd " + folder_.string()), 1U) << said.output;
}

TEST_F(DataCommand, SaysWhatIsWrongWithEachFile) {
  using dist::data::mnist_files;
  write(mnist_files[0].name, "<html>not found</html>");
  const auto bytes = static_cast<std::size_t>(mnist_files[1].bytes);
  write(mnist_files[1].name, std::string(bytes, '\0'));
  write(std::string(mnist_files[2].name) + ".gz", "\x1f\x8b\x08 and no more");
  const auto said = run({"mnist", "--dir", folder_});
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_EQ(count(said.output, "has 22 bytes instead of 47040016"), 1U) << said.output;
  EXPECT_EQ(count(said.output, "has SHA-256 "), 1U) << said.output;
  EXPECT_EQ(count(said.output, std::string(mnist_files[1].sha256)), 1U) << said.output;
  EXPECT_EQ(count(said.output, "wrong    "), 3U) << said.output;
  EXPECT_EQ(count(said.output, "missing  "), 1U) << said.output;
}
