"""Going back to what was given up, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core import LongTermMemory


@pytest.mark.parametrize(
    ("turns", "current", "gone"),
    [
        (
            ["I have an iPhone 13.", "Swapped the iPhone for a Galaxy S24.", "I'm back on my iPhone 13."],
            "iPhone",
            "Galaxy",
        ),
        (["I use Notion.", "I switched to Obsidian.", "I came back to Notion."], "Notion", "Obsidian"),
        (["I work at Acme.", "I joined Initech.", "I returned to Acme in June."], "Acme", "Initech"),
        (["I live in Leeds.", "I moved to York.", "I moved back to Leeds."], "Leeds", "York"),
        (["我住在杭州", "我搬到苏州了", "上个月又搬回杭州了"], "杭州", "苏州"),
        (["我用华为手机", "换成iPhone了", "又换回华为手机了"], "华为", "iPhone"),
        (["我吃素五年了", "我开荤了，现在鱼和肉都吃", "我还是恢复吃素了"], "素", "鱼和肉"),
        (["我留的是波波头", "头发接长了，现在是大波浪", "我又剪回波波头了"], "波波头", "大波浪"),
        (["我的默认收货地址是静安寺", "默认收货地址改成虹桥了", "我又把默认收货地址设回静安寺"], "静安寺", "虹桥"),
        (["我每天六点半起床", "起床时间改成八点了", "这周起又恢复成六点半起床了"], "六点半", "八点"),
        (["记账我用挖财", "记账改用Numbers表格了", "记账还是改回挖财了"], "挖财", "Numbers"),
        (["我是短发", "接了长发，现在天天编辫子", "拆了，我又是短发了"], "短发", "辫子"),
        # the last time, what one gets back to now and then, what is only repaired
        (["我在医院上早班", "护士长把我排到小夜班了", "上回早班的同事请客"], "小夜班", ""),
        (["我用华为手机", "换成iPhone了", "华为手机的数据恢复好了"], "iPhone", ""),
        (["我是德邦的装卸工", "我跳槽了，现在给安能开车", "我弟又回德邦装货了"], "安能", ""),
        # visits, errands, plans, questions, other people: nothing comes back
        (["I live in Leeds.", "I moved to York.", "I went back to Leeds for a weekend."], "York", ""),
        (["I live in Leeds.", "I moved to York.", "I went back to Leeds to see my mum."], "York", ""),
        (["I work at Acme.", "I joined Initech.", "I went back to Acme to collect my things."], "Initech", ""),
        (["I use Vim.", "I switched to VS Code.", "Did you go back to Vim?"], "VS Code", "Vim"),
        (["我用华为手机", "换成iPhone了", "我打算换回华为"], "iPhone", "华为手机"),
        (["我住在杭州", "我搬到苏州了", "周末回到杭州看了看朋友"], "苏州", ""),
    ],
)
def test_what_was_given_up_holds_again(turns: list[str], current: str, gone: str, tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", timezone="UTC") as memory:
        for n, text in enumerate(turns):
            memory.observe(user_id="ana", session_id=f"s{n}", user=text, at=f"2025-0{n + 1}-01")
        held = [f.object for f in memory.facts(user_id="ana")]
    assert any(current in o for o in held), held
    assert not gone or not any(gone in o for o in held), held
