#include "barrio/io/xdmf/xdmf_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "barrio/io/text/letters.hpp"

namespace barrio::io::detail {

void fail_xdmf(const std::string& path, const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = cause, .remedy = remedy});
}

std::string with_entities(const std::string& markup, const std::string& path) {
  std::map<std::string, std::string> entities;
  const std::string_view word = "<!ENTITY";
  const std::size_t end_of_head = std::min(markup.find("<Xdmf"), markup.size());
  for (std::size_t at = markup.find(word); at < end_of_head; at = markup.find(word, at + 1)) {
    const std::size_t quote = markup.find_first_of("\"'>", at);
    if (quote >= end_of_head || markup[quote] == '>') continue;
    const std::string name = plain_words(std::string_view(markup).substr(at + word.size(), quote - at - word.size()));
    const std::size_t end = markup.find(markup[quote], quote + 1);
    if (end < end_of_head) entities[name] = markup.substr(quote + 1, end - quote - 1);  // not of another file: no name
  }
  if (entities.empty()) return markup;
  constexpr std::size_t longest = std::size_t{64} << 20U;
  std::string result = markup.substr(0, end_of_head);
  for (std::size_t at = end_of_head; at < markup.size();) {
    const std::size_t begin = std::min(markup.find('&', at), markup.size());
    result.append(markup, at, begin - at);
    at = begin;
    if (begin == markup.size()) break;
    const std::size_t end = markup.find(';', begin);
    const auto known = entities.find(markup.substr(begin + 1, end == std::string::npos ? 0 : end - begin - 1));
    result += known == entities.end() ? "&" : known->second;
    at = known == entities.end() ? begin + 1 : end + 1;
    if (result.size() > longest) fail_xdmf(path, "has entities that stand for more than 64 MiB of text");
  }
  return result;
}

std::string plain_words(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// Return the value of the first attribute that a node has.
std::string value_of(const pugi::xml_node& node, std::initializer_list<const char*> names, const char* otherwise) {
  for (const char* name : names)
    if (const pugi::xml_attribute found = node.attribute(name)) return plain_words(found.as_string());
  return otherwise;
}

std::vector<std::int64_t> XdmfItems::counts(const std::string& text) const {
  std::vector<std::int64_t> all;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::int64_t product = 1;
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '\t' || *at == '\n' || *at == '\r') {
      ++at;
      continue;
    }
    std::int64_t n = -1;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0 || __builtin_mul_overflow(product, std::max<std::int64_t>(n, 1), &product) ||
        product > max_count)
      fail_xdmf(path_, fmt::format("has the dimensions '{}', which make no sense", text));
    all.push_back(n);
    at = next;
  }
  return all;
}

VtkNumber XdmfItems::number_of(const pugi::xml_node& node) const {
  const std::string type = lower(value_of(node, {"NumberType", "DataType"}, "float"));
  const std::string precision = value_of(node, {"Precision"}, type.ends_with("char") ? "1" : "4");
  if (type == "float" && precision == "8") return VtkNumber::float64;
  if (type == "float" && precision == "4") return VtkNumber::float32;
  const bool is_signed = type == "int" || type == "char" || type == "short";
  if (is_signed || type == "uint" || type == "uchar" || type == "ushort") {
    if (precision == "1") return is_signed ? VtkNumber::int8 : VtkNumber::uint8;
    if (precision == "2") return is_signed ? VtkNumber::int16 : VtkNumber::uint16;
    if (precision == "4") return is_signed ? VtkNumber::int32 : VtkNumber::uint32;
    if (precision == "8") return is_signed ? VtkNumber::int64 : VtkNumber::uint64;
  }
  fail_xdmf(path_,
            fmt::format("has numbers of the type '{}' of {} bytes, which barrio does not read", type, precision));
}

XdmfItem XdmfItems::item(const pugi::xml_node& node) const {
  const std::string kind = lower(value_of(node, {"ItemType", "Type"}, "uniform"));
  if (kind != "uniform")
    fail_xdmf(path_, fmt::format("has a DataItem of the type '{}'; barrio reads those that hold their numbers", kind),
              "write the arrays as they are, without selections and functions");
  XdmfItem found{.number = number_of(node), .dimensions = counts(value_of(node, {"Dimensions"}))};
  const std::string format = lower(value_of(node, {"Format"}, "xml"));
  const std::string text = plain_words(node.text().as_string());
  if (format == "xml") {
    found.file = path_;
    found.offset = node.text().as_llong();
  } else if (format == "hdf") {
    const auto bar = text.find('|');
    const std::string name = plain_words(text.substr(0, bar));
    const auto colon = name.rfind(':');
    if (colon == std::string::npos) fail_xdmf(path_, fmt::format("names '{}', but must name FILE:/DATASET", text));
    found.form = XdmfItem::Form::hdf5;
    found.file = (folder_ / name.substr(0, colon)).string();
    found.dataset = name.substr(colon + 1);
    if (bar != std::string::npos) add_part(text.substr(bar + 1), found);
  } else if (format == "binary") {
    if (const std::string packing = lower(value_of(node, {"Compression"}, "raw")); packing != "raw")
      fail_xdmf(path_, fmt::format("has values compressed by '{}'", packing), "write them without compression");
    found.form = XdmfItem::Form::raw;
    found.file = (folder_ / text).string();
    const std::vector<std::int64_t> seek = counts(value_of(node, {"Seek"}, "0"));
    found.offset = seek.empty() ? 0 : seek[0];
    const std::string order = lower(value_of(node, {"Endian"}, "native"));
    found.order = order == "big" ? std::endian::big : order == "little" ? std::endian::little : std::endian::native;
  } else {
    fail_xdmf(path_, fmt::format("has values in the unknown format '{}'", format));
  }
  return found;
}

void XdmfItems::add_part(const std::string& text, XdmfItem& item) const {
  std::vector<std::vector<std::int64_t>> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    words.push_back(text.find('|') == std::string::npos ? counts(text.substr(begin, end - begin))
                                                        : std::vector<std::int64_t>());
    begin = end + 1;
  }
  const std::size_t n = words[0].size();
  if (n == 0 || words.size() != 4 || std::ranges::any_of(words, [&](const auto& one) { return one.size() != n; }))
    fail_xdmf(path_,
              fmt::format("selects '{}' of the dataset '{}', but must give start:stride:count:dimensions", text,
                          item.dataset),
              "write each array as one dataset");
  std::int64_t n_selected = 1;
  for (std::size_t d = 0; d < n; ++d) {
    if (words[1][d] != 1 && words[2][d] > 1)
      fail_xdmf(path_, fmt::format("selects every {}. number of the dataset '{}'", words[1][d], item.dataset),
                "select numbers that follow each other");
    if (words[0][d] + words[2][d] > words[3][d])
      fail_xdmf(path_, fmt::format("selects numbers {} to {} along a dimension of length {} of the dataset '{}'",
                                   words[0][d], words[0][d] + words[2][d] - 1, words[3][d], item.dataset));
    item.starts.push_back(words[0][d]);
    item.lengths.push_back(words[2][d]);
    n_selected *= words[2][d];
  }
  if (n_selected != item.n_numbers())
    fail_xdmf(path_, fmt::format("selects {} numbers of the dataset '{}' for an array of {}", n_selected, item.dataset,
                                 item.n_numbers()));
}

}  // namespace barrio::io::detail
