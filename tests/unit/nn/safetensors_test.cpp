#include "dist/nn/safetensors.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/core/crc32.h"
#include "dist/nn/conv_net.h"

#include "support/expect_error.h"

namespace dist::nn {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  Safetensors() : folder_(fs::temp_directory_path() / fmt::format("distlab-safetensors-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Safetensors() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name = "state.safetensors") const { return folder_ / name; }

  std::string contents() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }
  // A file with this header and this many bytes after it, as another program would write it.
  void write(const std::string& header, std::size_t data_bytes) const {
    const std::uint64_t length = header.size();
    write(std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
          std::string(data_bytes, '\1'));
  }
  void expect_refused(const std::string& why) const {
    test::expect_error(Errc::invalid_argument, {file().string(), why}, [&] { load_safetensors(file()); });
  }

  fs::path folder_;
};

TEST_F(Safetensors, EveryDtypeAndShapeComesBackInOrder) {
  StateDict dict;
  for (const DType dtype : all_dtypes) dict.push_back({"of." + std::string(name(dtype)), arange(2, dtype)});
  dict.push_back({"scalar", full({}, 7, DType::i64)});
  dict.push_back({"nothing", zeros({3, 0})});
  dict.push_back({"a \"name\" \xC3\xA9", full({2, 1, 3}, -0.5)});
  save_safetensors(file(), dict);
  const StateDict loaded = load_safetensors(file());
  ASSERT_EQ(loaded.size(), dict.size());
  for (std::size_t i = 0; i < dict.size(); ++i) {
    EXPECT_EQ(loaded[i].name, dict[i].name);
    EXPECT_TRUE(equal(loaded[i].tensor, dict[i].tensor)) << dict[i].name;
  }
  save_safetensors(file(), {});
  EXPECT_TRUE(load_safetensors(file()).empty());
}

TEST_F(Safetensors, AModelGoesOnFromAFile) {
  ConvNet saved, loaded;
  saved.forward(ones({2, 1, 28, 28}));  // moves the running means
  save_safetensors(file(), saved.state_dict());
  loaded.load_state_dict(load_safetensors(file()));
  const StateDict before = saved.state_dict(), after = loaded.state_dict();
  ASSERT_EQ(before.size(), 16U);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(equal(after[i].tensor, before[i].tensor)) << before[i].name;
}

// Byte by byte, as the header's comment promises; the checksum is python3's zlib.crc32.
TEST_F(Safetensors, TheFormatIsTheDocumentedOne) {
  EXPECT_EQ(crc32(std::as_bytes(std::span("123456789", 9))), 0xCBF43926U);
  save_safetensors(file(), {{"x", tensor({std::uint8_t{65}, std::uint8_t{66}})}});
  const std::string expected =
      R"({"__metadata__":{"format":"distlab","crc32":"00000000"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  std::string got = contents();
  std::uint64_t length = 0;
  std::memcpy(&length, got.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  ASSERT_EQ(got.size(), 8 + length + 2);
  const auto digits = got.find("\"crc32\":\"") + 9;
  const std::string checksum = got.substr(digits, 8);
  got.replace(digits, 8, "00000000");
  EXPECT_EQ(got.substr(8, expected.size()), expected);
  EXPECT_EQ(got.substr(8 + length), "AB");
  EXPECT_EQ(checksum, fmt::format("{:08x}", crc32(std::as_bytes(std::span(got)).subspan(8))));
}

TEST_F(Safetensors, EveryChangedByteAndEveryLengthIsNoticed) {
  save_safetensors(file(), {{"x", arange(6)}, {"y", ones({3}, DType::i64)}});
  const std::string whole = contents();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    write(changed);
    expect_refused("");
    write(whole.substr(0, i));
    expect_refused("");
  }
  write(whole);
  EXPECT_EQ(load_safetensors(file()).size(), 2U);
}

TEST_F(Safetensors, SaysWhatIsWrong) {
  save_safetensors(file(), {{"x", arange(6)}});
  const std::string whole = contents();
  write(whole.substr(0, whole.size() - 1));
  expect_refused("it is cut off: its tensors need 24 bytes, and 23 are there");
  write(whole + "x");
  expect_refused("the last tensor ends 1 byte before the file does");
  std::string changed = whole;
  changed.back() = 'x';
  write(changed);
  expect_refused("its checksum is");
  write(std::string());
  expect_refused("a file of 0 bytes is not a safetensors file");
  write("PK\3\4 and the rest of a zip file of PyTorch");
  expect_refused("beyond the format's limit of 100000000; is it a safetensors file?");
  write(std::string("\x40\0\0\0\0\0\0\0{}", 10));
  expect_refused("its header should have 64 bytes, but only 2 follow");
  write("[1, 2]  ", 0);
  expect_refused("its header is not a JSON object");
  write("{\"x\": ", 0);
  expect_refused("its header is not a JSON object");
}

TEST_F(Safetensors, RefusesHeadersThatContradictThemselves) {
  const auto entry = [](const std::string& name, const std::string& shape, const std::string& offsets,
                        const std::string& dtype = "F32") {
    return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
  };
  const auto refused = [&](const std::string& entries, std::size_t bytes, const std::string& why) {
    write("{" + entries + "}", bytes);
    expect_refused(why);
  };
  refused(entry("a", "[2]", "[0,8]") + "," + entry("b", "[2]", "[4,12]"), 12,
          "\"b\" begins at byte 4, overlapping");
  refused(entry("a", "[2]", "[0,8]") + "," + entry("b", "[2]", "[0,8]"), 8, "overlapping");
  refused(entry("a", "[2]", "[4,12]"), 12, "\"a\" begins at byte 4, with a gap after");
  refused(entry("a", "[3]", "[0,8]"), 8, "\"a\", [3] f32, has 12 bytes and is at [0, 8)");
  refused(entry("a", "[2]", "[8,0]"), 8, "is at [8, 0)");
  refused(entry("a", "[4294967296,4294967296,4]", "[0,8]"), 8, "\"a\": ");
  refused(entry("a", "[18446744073709551615]", "[0,8]"), 8, "\"a\": ");
  refused(entry("a", "[-2]", "[0,8]"), 8, "\"a\" has no shape");
  refused(entry("a", "[2.5]", "[0,8]"), 8, "\"a\" has no shape");
  refused(entry("a", "[2]", "[0]"), 8, "\"a\" has 1 data_offsets");
  refused(entry("a", "[2]", "7"), 8, "\"a\" has no data_offsets");
  refused(entry("a", "[2]", "[0,2]", "F8_E4M3"), 2, "has the dtype \"F8_E4M3\", which distlab does not have");
  refused("\"a\":3", 0, "\"a\" has no data_offsets");
  refused("\"__metadata__\":3", 0, "__metadata__ is not a JSON object");
  refused("\"__metadata__\":{\"crc32\":\"12\"}", 0, "does not have eight digits");
}

TEST_F(Safetensors, TakesFilesOfOthersInAnyOrder) {
  write(
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"a":{"shape":[],"data_offsets":[0,1],"dtype":"U8"}}   )",
      2);
  const StateDict loaded = load_safetensors(file());
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].name, "a");
  EXPECT_EQ(loaded[1].tensor.shape(), (Shape{1}));
}

TEST_F(Safetensors, RefusesNamesThatAFileCannotHave) {
  EXPECT_DIST_ERROR(save_safetensors(file(), {{"x", ones({1})}, {"x", ones({1})}}), Errc::invalid_argument,
                    "\"x\" occurs twice");
  EXPECT_DIST_ERROR(save_safetensors(file(), {{"__metadata__", ones({1})}}), Errc::invalid_argument,
                    "not for tensors");
  EXPECT_DIST_ERROR(save_safetensors(file(), {{"\xFF", ones({1})}}), Errc::invalid_argument, "not UTF-8");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Safetensors, AFailedSaveLeavesTheOldFileAndNothingElse) {
  save_safetensors(file(), {{"x", ones({1})}});
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit little { 1000, before.rlim_max };
  const Tensor large = ones({10000});
  ::setrlimit(RLIMIT_FSIZE, &little);
  EXPECT_DIST_ERROR(save_safetensors(file(), {{"x", large}}), Errc::resource,
                    "cannot be written: File too large");
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(load_safetensors(file())[0].tensor.item<int>(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_DIST_ERROR(save_safetensors(folder_ / "no" / "folder", {}), Errc::resource, "there is no folder");
  EXPECT_DIST_ERROR(load_safetensors(file("absent")), Errc::resource, "opening the file: No such file");
  EXPECT_DIST_ERROR(load_safetensors(folder_), Errc::invalid_argument,
                    "this is not a regular file; name a safetensors file");
}

TEST_F(Safetensors, TheStateOfAnotherModelIsRefusedAndChangesNothing) {
  Linear small(2, 2), large(2, 3), without_bias(2, 2, {.bias = false});
  save_safetensors(file(), small.state_dict());
  const StateDict before = load_safetensors(file());
  EXPECT_DIST_ERROR(small.load_state_dict(large.state_dict()), Errc::invalid_argument,
                    "Linear(2, 2): \"weight\" is [2, 2] f32, the state to load has [3, 2] f32");
  EXPECT_DIST_ERROR(small.load_state_dict(without_bias.state_dict()), Errc::invalid_argument,
                    "which the state to load lacks");
  EXPECT_DIST_ERROR(without_bias.load_state_dict(small.state_dict()), Errc::invalid_argument,
                    "has no \"bias\"");
  EXPECT_DIST_ERROR(small.load_state_dict(with_prefix("module.", small.state_dict())), Errc::invalid_argument,
                    "the state is that of a DistributedDataParallel; save the model instead");
  EXPECT_TRUE(equal(small.parameters()[0]->value, before[0].tensor));
}

TEST(StateDict, SeveralStatesFitIntoOne) {
  const StateDict model{{"weight", ones({2})}, {"bias", zeros({1})}}, optimizer{{"weight", full({2}, 3)}};
  StateDict both = with_prefix("model.", model);
  for (const auto& one : with_prefix("optimizer.", optimizer)) both.push_back(one);
  ASSERT_EQ(both.size(), 3U);
  EXPECT_EQ(both[1].name, "model.bias");
  const auto back = part(both, "optimizer.");
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].name, "weight");
  EXPECT_EQ(back[0].tensor.raw(), optimizer[0].tensor.raw()) << "shared, not copied";
  EXPECT_EQ(part(both, "model.").size(), 2U);
  EXPECT_TRUE(part(both, "epoch").empty());
}

}  // namespace
}  // namespace dist::nn
