// What was handed in: a source, a zip file, and what the compiler says of a source.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "judge/confined_run.h"
#include "judge/fuzz/driver.h"
#include "judge/object_check.h"
#include "judge/submission.h"

namespace {

namespace fs = std::filesystem;

const fs::path lab_file = "labs/05_broadcast/broadcast.cpp";

std::string zip_of(const std::string& text) {
  const judge::ScratchFolder folder;
  const fs::path source = fs::path(folder.path()) / lab_file.filename(),
                 zip = fs::path(folder.path()) / "a.zip";
  std::ofstream(source) << text;
  const auto command =
      "cd '" + folder.path() + "' && '" JUDGE_CMAKE "' -E tar cf a.zip --format=zip broadcast.cpp";
  if (std::system(command.c_str()) != 0) return "";
  std::ifstream file(zip, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void take(const std::string& bytes, const char* name) {
  static const judge::ScratchFolder folder;
  const fs::path file = fs::path(folder.path()) / name;
  std::ofstream(file, std::ios::binary) << bytes;
  try {
    judge::take_submission(file, lab_file);
  } catch (const judge::Refused&) {
  }
}

}  // namespace

std::vector<std::string> right_inputs() {
  return {"#include \"broadcast.h\"\nnamespace lab {\n// Not for this lab: dist::data\n}\n",
          zip_of("#include \"broadcast.h\"\n"),
          "0000000000000010 T lab::relay(int)\n                 U dist::recv(int)\n",
          "graded.o: /usr/include/stdio.h \\\n /src/lib/dist/dist\\ .h $$\n"};
}

// A zip takes two programs in the sandbox, so few of them are tried.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  take(text, "broadcast.cpp");
  const auto words = judge::words_in(text);
  judge::foreign_symbol(text, words, judge::kept_away(text));
  judge::interposing_symbol(text, text, text);
  judge::foreign_include(text, "/src", {});
  return 0;
}
