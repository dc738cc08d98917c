"""Answers a survey of a running collector: python3 test_survey.py URL. It prints the number of stored messages."""

import json
import sys
import urllib.error
import urllib.request

import dither_local as local

url, stored = sys.argv[1], 0


def post(body):
    request = urllib.request.Request(url + "/v1/reports", body.encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


with urllib.request.urlopen(url + "/v1/survey") as answer:
    text = answer.read()
survey = local.Survey(text)
assert survey.epsilon == 122 and survey.reports == 2, survey.epsilon
good = {"meal": "café", "hours": 7.5, "code": 90, "again": 3}
for i in range(20):
    device = survey.questions["again"].new_device()
    for meal in "tea", "café":
        body = survey.message({**good, "meal": meal if i < 5 else "café"}, {"again": device})
        assert post(body)[0] == 200
        assert post(body) == (409, {"accepted": 0, "refused": [
            {"index": 0, "code": "duplicate", "reason": "a report with this id was accepted before"}]})
        stored += 1

device = survey.questions["again"].new_device()
other = local.Oracle("dbit", 5, "19", positions=2).new_device()
for answers, devices in [
    ({**good, "meal": "coffee"}, {"again": device}), ({**good, "code": 100}, {"again": device}), ({**good, "code": "90"}, {"again": device}),
    ({**good, "hours": float("nan")}, {"again": device}), ({**good, "hours": "7"}, {"again": device}), ({**good, "more": 1}, {"again": device}),
    ({"meal": "tea"}, {"again": device}), (good, None), (good, {"again": other}),
]:
    try:
        survey.message(answers, devices)
    except ValueError:
        continue
    raise AssertionError((answers, devices))
for form in "", "{}", "[]", '{"version":2}', text.replace(b'"bits":7', b'"bits":8'), text.replace(b'"krr"', b'"kr"'):
    try:
        local.Survey(form)
    except ValueError:
        continue
    raise AssertionError(form)
print(stored)
